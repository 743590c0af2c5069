"""Two models, two languages or two conditions, paired; and native against other languages."""
