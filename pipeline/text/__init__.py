"""Pure functions over text: cleaning, flags, sentences, encodings, stems."""
