"""Everything that is measured on the same models besides generated text: one folder each."""
