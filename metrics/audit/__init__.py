"""What people say of a sample of mentions and links, what that says of extraction and linking, and of the metrics."""
