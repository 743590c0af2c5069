"""Whether what a probe reads out of a model's layers helps the model with questions, as in CultureScope.

- `conditions`, `contexts`: what stands before a question, and why it may be missing
- `knowledge`, `source_table`: items that the probe kept, and another source's concepts that a user gives
- `study`: the work of the command
- `asking`, `steps`, `reading`: the same question under every condition, and what an answer comes to
- `views.sql`, `numbers`: shares by condition, and gains paired within questions
"""
