"""All strategies on the same question, side by side, or on a set of questions, with a history."""
