"""Files while they can be told apart, else folders."""

from pipeline.plots.colours import MOST_GROUPS, colour_groups


def test_few_files_have_a_colour_each():
    files = ["b.txt", "a/c.txt", "b.txt"]
    assert colour_groups(files) == files
    assert colour_groups([]) == []


def test_many_files_are_told_apart_by_folder():
    files = [f"{folder}/{number}.md" for folder in ("a", "b") for number in range(9)] + ["top.md"]
    assert colour_groups(files) == ["a/"] * 9 + ["b/"] * 9 + ["/"]


def test_the_deepest_level_that_can_be_told_apart():
    files = [f"docs/{folder}/{number}.md" for folder in "abc" for number in range(9)]
    assert colour_groups(files)[::9] == ["docs/a/", "docs/b/", "docs/c/"]


def test_of_too_many_the_largest_keep_their_name():
    folders = [f"{number:02}/x.md" for number in range(40)]
    groups = colour_groups([*folders, "39/y.md"])
    assert groups[-1] == groups[39] == "39/"
    assert len({group for group in groups if group}) == MOST_GROUPS - 1
    assert groups[38] is None


def test_many_files_without_any_folder():
    groups = colour_groups([f"{number}.txt" for number in range(30)] + ["7.txt"])
    assert groups[7] == groups[-1] == "7.txt"
    assert groups.count(None) > 0
