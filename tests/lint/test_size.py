from pathlib import Path

import cpp_functions
import pytest
import size


def found(root: Path, name: str, text: str) -> list[str]:
    (root / name).write_text(text)
    return list(size.check(root, Path(name)))


@pytest.mark.parametrize(("name", "comment"), [("a.cpp", "//"), ("a.py", "#")])
def test_a_file_of_400_lines_passes_and_one_more_fails(tmp_path: Path, name: str, comment: str) -> None:
    assert found(tmp_path, name, f"{comment}\n" * 400) == []
    (message,) = found(tmp_path, name, f"{comment}\n" * 401)
    assert message.startswith(f"{name}:1: the file has 401 lines")


def test_a_python_function_of_60_lines_passes_and_one_more_fails(tmp_path: Path) -> None:
    def function(lines: int) -> str:
        return "class A:\n    def work(self):\n" + "        pass\n" * (lines - 1)

    assert found(tmp_path, "a.py", function(60)) == []
    (message,) = found(tmp_path, "a.py", function(61))
    assert message.startswith("a.py:2: work has 61 lines")


def test_a_docstring_does_not_count(tmp_path: Path) -> None:
    docstring = '    """' + "Words.\n" * 30 + '    """\n'
    assert found(tmp_path, "a.py", "def work():\n" + docstring + "    pass\n" * 50) == []


@pytest.mark.parametrize(
    "head",
    [
        "void work(int a) {",
        "Result<void> Room::work(std::function<void(int)> a) const noexcept {",
        "template <class T>\nrequires Small<T>\nT work(T a = {}) {",
        "namespace a::b {\nclass C final : public D {\n public:\n  void work() override {",
        "Room::Room(int a) : a_{a}, b_(a) {",
        "BOOST_DESCRIBE_STRUCT(A, (), (b, c))\nBOOST_AUTO_TEST_CASE(a_rank_dies) {",
    ],
)
def test_a_cpp_function_of_60_lines_passes_and_one_more_fails(tmp_path: Path, head: str) -> None:
    def source(lines: int) -> str:
        own_lines = 2 if head.startswith("template") else 1
        body = "  if (a) { b({1, 2}); }\n" * (lines - own_lines - 1)
        return head + "\n" + body + "}\n" + "}\n" * (2 if "class C" in head else 0)

    assert found(tmp_path, "a.cpp", source(60)) == []
    (message,) = found(tmp_path, "a.cpp", source(61))
    assert "has 61 lines, 60 are allowed" in message


@pytest.mark.parametrize(
    "text",
    [
        "struct A {\n" + "  int a;\n" * 100 + "};\n",
        "BOOST_DESCRIBE_STRUCT(A, (), (b))\n\nstruct B {\n" + "  int a = f(1);\n" * 100 + "};\n",
        "namespace {\n" + "int a = f(1);\n" * 100 + "}\n",
        "constexpr std::array<int, 100> a = to_array({\n" + "  {1},\n" * 100 + "});\n",
        "void f() {}\n/* {\n" + "\n" * 100 + "*/\nvoid g() {}\n",
        "void f() { puts(\"{\"); putchar('{'); int a = 1'000; }\n" + "\n" * 100 + "void g() {}\n",
        'void f() { puts(R"({)"); }\n' + "\n" * 100 + "void g() {}\n",
    ],
)
def test_what_is_no_function_may_be_long(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, "a.cpp", text) == []


def test_functions_are_named_with_their_lines() -> None:
    text = "int f() { return 1; }\n\nstruct S {\n  S() : a{1} {\n  }\n  bool operator==(const S& b) const {\n  }\n};\n"
    assert list(cpp_functions.functions(text)) == [("f", 1, 1), ("S", 4, 5), ("operator==", 6, 7)]
