"""No word that may hold a password is told, in whatever place it was given."""

from __future__ import annotations

import contextlib
import io
import re
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from cyclopts import App
from options import Option, options_of
from pydantic import BaseModel
from sample_trials import plan_of

from loadstone.cli import main
from loadstone.cli.draft import Draft
from loadstone.doctor.collect.log import collate
from loadstone.doctor.collect.log_postgresql import PostgreSQLLog
from loadstone.doctor.rules.messages import messages_of
from loadstone.errors import ExitCode, LoadstoneError, WrongInputError
from loadstone.experiments.file import parse_experiment, validate
from loadstone.experiments.preflight.check import check_experiment
from loadstone.results.folder import ExperimentFolder
from loadstone.secret import holds_secret, masked, masked_data, names_secret
from loadstone.spec.model import Experiment
from loadstone.spec.problems import Path as FieldPath
from loadstone.spec.problems import dotted
from loadstone.spec.target import TargetSpec
from loadstone.targets.registry import TARGETS, target_for

SECRET = "S3cret/9x"
FORMS = (
    "postgresql://bench:S3cret/9x@db1/shop",
    "postgresql:/bench:S3cret/9x@db1/shop",
    "mysql://:S3cret/9x@db1/shop",
    "mysql://bench:S3cret/9x@x@db1/shop",
    "postgresql://bench%3AS3cret/9x@db1/shop",
    "postgresql://bench@db1/shop?sslpassword=S3cret/9x",
    "postgresql://bench:an S3cret/9x@db1/shop",
    "jdbc:postgresql://db1/shop?user=bench&password=S3cret/9x",
    "jdbc:sqlserver://db1;user=bench;password=S3cret/9x;",
    "host=db1 password=S3cret/9x",
    "host=db1 password='S3cret/9x'",
    "Driver=x;Pwd={S3cret/9x}",
    "bench:S3cret/9x@db1/shop",
    "bench:S3cret/9x@10.0.0.1",
    "report_password=S3cret/9x",
    "first:primary_conninfo=host=db1 password=S3cret/9x",
    '{"password": "S3cret/9x"}',
    "CREATE ROLE a PASSWORD 'S3cret/9x'",
    "GRANT ALL ON *.* TO a IDENTIFIED BY 'S3cret/9x'",
    "MAXL> login admin S3cret/9x on localhost;",
)
OPTIONS = list(options_of(main.build_app()))


pytestmark = pytest.mark.usefixtures("own_places")


def told(words: list[str], *, fails: bool | None = True) -> str:
    """All that a command says, and leaves behind."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main.run_command(words)
    assert fails is None or code != ExitCode.OK, words
    kept = [str(path) for path in Path().rglob("*")]
    kept += [path.read_text(errors="replace") for path in Path().rglob("*") if path.is_file()]
    return said.getvalue() + "\n".join(kept)


def leaking(options: list[Option], word: str) -> list[str]:
    """The options that tell or keep a secret that was given to them."""
    return [str(each) for each in options if SECRET in told(each.given(word))]


# -- the forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_password_is_recognised_in_every_form(form: str) -> None:
    assert holds_secret(form)
    assert SECRET not in masked(form) or "%3A" in form
    assert SECRET not in LoadstoneError(f"x: {form}, given").message or "%3A" in form


@pytest.mark.parametrize(
    "word",
    [
        "postgresql://me@localhost:5432/shop",
        "postgresql://me%40corp@[::1]:5432/shop",
        "mysql://me@/shop?socket=/run/mysqld/mysqld.sock",
        "spark://host:7077",
        "local:15",
        "--password=env:PGPASSWORD",
        "file:/home/me@corp/pw",
        "log_line_prefix=%t:%r:%u@%d:[%p]: ",
        "log_line_prefix=%m [%p] %q%u@%d/%a ",
        "password_encryption=scram-sha-256",
        "old_passwords=1",
        "wal:max_wal_size=4GB",
        "p99 < 50 ms",
        "results/a@b",
        "oltp-run:users=8",
        "see http://host:8080 and write to me@example.org",
        "mailto:me@example.org",
        'password authentication failed for user "me"',
        "write password: env:NAME or file:PATH",
    ],
)
def test_what_holds_none_is_left_as_it_is(word: str) -> None:
    assert not holds_secret(word)
    assert masked(word) == word


def test_settings_that_are_called_as_passwords_are_are_masked() -> None:
    told_by_server = {
        "settings": {
            "report_password": {"value": SECRET, "source": "config"},
            "primary_conninfo": f"host=a password={SECRET}",
            "password_encryption": "md5",
        },
        "words": [f"--pwd={SECRET}", 3],
    }
    assert masked_data(told_by_server) == {
        "settings": {
            "report_password": {"value": "***", "source": "config"},
            "primary_conninfo": "host=a password=***",
            "password_encryption": "md5",
        },
        "words": ["--pwd=***", 3],
    }
    assert names_secret("target.spark.hadoop.fs.s3a.secret.key")
    assert not names_secret("target.password_encryption")


# -- the command line --------------------------------------------------------------------------


def test_the_command_line_describes_all_that_it_takes() -> None:
    verbs = {option.verb[0] for option in OPTIONS}
    assert verbs == {verb for verb, _, _ in main.VERBS}
    assert {"run --server", "cube split FILE", "plan --soak"} <= {str(each) for each in OPTIONS}


@pytest.mark.parametrize("form", FORMS)
def test_no_option_of_any_verb_tells_a_word_that_holds_a_password(form: str) -> None:
    assert leaking(OPTIONS, form) == []


def test_nor_does_it_in_a_place_that_there_is_not() -> None:
    verbs = dict.fromkeys(option.verb for option in OPTIONS)
    places = [[], *([*verb, *more] for verb in verbs for more in ([], ["--"], ["--no-such"]))]
    for form in (*FORMS, f"-p{SECRET}", f"--pasword={SECRET}"):
        for place in places[:: 1 if form == FORMS[0] else 9]:
            assert SECRET not in told([*place, form])


def test_a_bare_password_is_not_told_where_other_words_are_wanted() -> None:
    limited = [each for each in OPTIONS if not each.is_free and each.kinds != {bool}]
    assert len({each.name for each in limited}) > 20
    one_each = list({each.name: each for each in limited}.values())
    assert leaking(one_each, SECRET) == []
    for words in (
        [],
        ["--debug"],
        ["run", "oltp"],
        ["run", "oltp", "--passwd"],
        ["list", "-p"],
        ["schema"],
    ):
        assert SECRET not in told([*words, SECRET])


def test_a_bare_password_is_not_told_where_a_server_or_a_reference_is_wanted() -> None:
    places = [each.verb for each in OPTIONS if each.name == "--password"]
    assert len(places) >= 3
    for verb in places:
        for word in (SECRET, f"env:{SECRET}", f"file:{SECRET}"):
            what = [] if verb == ("doctor",) else ["oltp"]
            server = ["--server", "postgresql://me@localhost:1/shop"]
            assert SECRET not in told([*verb, *what, *server, f"--password={word}"])
    for server in (
        SECRET,
        f"bench/{SECRET}@db1",
        f"postgresql://bench:{SECRET}",
        f"mysql://{SECRET}",
    ):
        assert SECRET not in told(["doctor", "--server", server])


def test_an_option_that_tells_its_word_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_: str) -> App:
        app = App(name="loadstone", suppress_keyboard_interrupt=False)

        @app.command
        def new(*, there: str = "") -> int:
            raise WrongInputError(f"there is no {there!r}")

        return app

    monkeypatch.setattr(main, "build_app", build)
    assert leaking(list(options_of(build())), SECRET) == ["new --there"]
    assert leaking(list(options_of(build())), FORMS[0]) == []


def test_an_error_of_loadstone_itself_repeats_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_: str) -> App:
        raise RuntimeError(f"no connection to {FORMS[0]}")

    monkeypatch.setattr(main, "build_app", build)
    for more in ([], ["--debug"]):
        said = told(["run", "oltp", "--password", SECRET, *more])
        assert "please report it" in said
        assert ("Traceback" in said) == bool(more)
        assert SECRET not in said


# -- the environment ---------------------------------------------------------------------------

OWN_VARIABLES = {
    name
    for file in (Path(main.__file__).parents[1]).rglob("*.py")
    for name in re.findall(r'"(LOADSTONE_[A-Z]+)"', file.read_text(encoding="utf-8"))
}
VARIABLES = OWN_VARIABLES | {
    *("PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGHOST", "PGUSER", "PGDATABASE", "PGOPTIONS"),
    *("MYSQL_PWD", "MYSQL_HOST", "MARIADB_PASSWORD", "XDG_STATE_HOME", "XDG_CACHE_HOME"),
    *("DATABASE_URL", "JAVA_HOME", "TMPDIR", "COLUMNS"),
}
VERBS = (
    ["list"],
    ["list", "targets"],
    ["plan", "oltp", "--json"],
    ["recover"],
    ["report", "nothing"],
    pytest.param(
        ["run", "noop", "--target", "none", "--measure", "50ms", "--warm-up", "0s"],
        marks=pytest.mark.long,
    ),
    ["run", "oltp", "--server", "postgresql://me@127.0.0.1:1/shop"],
    ["run", "oltp", "--target", "mariadb", "--server", "mysql://me@127.0.0.1:1/shop"],
    ["doctor", "--server", "postgresql://me@127.0.0.1:1/shop"],
    ["doctor", "--server", "mysql://me@127.0.0.1:1/shop"],
)


def test_the_variables_are_found_by_the_source() -> None:
    assert {"LOADSTONE_STATE", "LOADSTONE_CACHE", "LOADSTONE_DRIVER"} <= OWN_VARIABLES


@pytest.mark.parametrize("words", VERBS)
def test_no_verb_tells_or_keeps_what_is_in_the_environment(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    passwords = {"PGPASSWORD", "MYSQL_PWD", "MARIADB_PASSWORD"}
    for name in VARIABLES - {"LOADSTONE_STATE"}:
        monkeypatch.setenv(name, SECRET if name in passwords else FORMS[0])
    assert SECRET not in told(words, fails=None)
    for name in VARIABLES - passwords - {"LOADSTONE_STATE"}:
        monkeypatch.delenv(name)
    assert SECRET not in told(words, fails=None)


@pytest.mark.parametrize("variable", ["LOADSTONE_STATE", "XDG_STATE_HOME"])
def test_a_folder_of_the_environment_that_holds_a_password_is_not_made(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOADSTONE_STATE")
    monkeypatch.setenv(variable, FORMS[0])
    said = told(["run", "noop", "--target", "none"])
    assert f"{variable} holds a password" in said
    assert SECRET not in said


# -- files -------------------------------------------------------------------------------------

PLAIN: dict[str, Any] = {
    "version": 1,
    "name": "first",
    "workload": {"name": "noop"},
    "target": {"engine": "none"},
}


def fields_of(model: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """The way to every field of a model, those of all members of unions too."""
    if get_origin(model) in (Annotated, Union, types.UnionType, list, dict, tuple):
        kind = get_origin(model)
        inner: FieldPath = (0,) if kind in (list, tuple) else ("x",) if kind is dict else ()
        for each in get_args(model):
            yield from fields_of(each, (*path, *inner))
        if inner:
            yield (*path, *inner)
    elif isinstance(model, type) and issubclass(model, BaseModel) and len(path) < 6:
        for name, field in model.model_fields.items():
            yield (*path, field.alias or name)
            yield from fields_of(field.annotation, (*path, field.alias or name))


def planted(path: FieldPath, word: Any) -> dict[str, Any]:
    data: Any = word
    for part in reversed(path):
        data = [data] if isinstance(part, int) else {part: data}
    for name, value in PLAIN.items():
        own = data.get(name, value)
        data[name] = {**value, **own} if isinstance(value, dict) and isinstance(own, dict) else own
    found: dict[str, Any] = data
    return found


FIELDS = sorted(set(fields_of(Experiment)), key=str)


def refusal(data: dict[str, Any]) -> str:
    with pytest.raises(WrongInputError) as caught:
        validate(data, Draft({}))
    return f"{caught.value.message} {caught.value.advice}"


@pytest.mark.parametrize("form", FORMS)
def test_no_field_of_an_experiment_tells_a_word_that_holds_a_password(form: str) -> None:
    assert len(FIELDS) > 100
    for path in FIELDS:
        said = refusal(planted(path, form))
        assert SECRET not in said, path
        assert SECRET not in refusal(planted((*path, form), 1)), path


@pytest.mark.parametrize(
    "path",
    [
        ("target", "settings", "report_password"),
        ("target", "pwd"),
        ("workload", "parameters", "password"),
        ("design", "rungs", 0, "change", "target.report_password"),
        ("design", "factors", "target.report_password", 0),
        ("target", "password"),
        ("target", "others", "x", "password"),
        ("target", "password", 0),
        ("target", "password", "x"),
    ],
)
def test_a_field_that_is_called_as_passwords_are_tells_nothing(path: FieldPath) -> None:
    assert SECRET not in refusal(planted(path, SECRET))


@pytest.mark.parametrize("reference", [f"env:{SECRET}", f"file:{SECRET}"])
def test_a_reference_that_leads_nowhere_is_found_by_a_plan(reference: str) -> None:
    """It is not quoted: somebody may have put the password itself there."""
    other = {"engine": "postgresql", "server": "postgresql://me@h/d", "password": reference}
    for target, place in (
        ({"engine": "none", "password": reference}, "target.password"),
        ({"engine": "none", "others": {"x": other}}, "target.others.x.password"),
    ):
        written = validate({**PLAIN, "target": target}, Draft({}))
        problems = check_experiment(written.experiment)
        assert [dotted(each.path) for each in problems] == [place]
        assert SECRET not in problems[0].message


def test_a_factor_that_is_a_password_is_refused() -> None:
    factor = "target.report_password"
    design = {"kind": "compare", "factor": factor, "levels": [SECRET, "b"]}
    said = refusal({**PLAIN, "design": design})
    assert "design.factor: is the name of a password" in said
    assert SECRET not in said


@pytest.mark.parametrize(
    "line",
    [
        f"name: {SECRET}\nname: {SECRET}",
        f"password: *{SECRET}",
        f"password: !{SECRET} x",
        f'password: "{SECRET}',
        f"password: {SECRET}: x",
        f"password: [{SECRET}",
        f"password: 2020-13-45 {SECRET}\n- {SECRET}",
        f"'{FORMS[0]}': {{",
    ],
)
def test_yaml_that_cannot_be_read_is_not_quoted(line: str) -> None:
    with pytest.raises(WrongInputError) as caught:
        parse_experiment(line, "x.yaml")
    assert SECRET not in caught.value.message
    assert caught.value.__suppress_context__ or SECRET not in repr(caught.value.__context__)


def test_a_model_quotes_nothing_in_its_own_error() -> None:
    with pytest.raises(ValueError, match="a password is a reference") as caught:
        TargetSpec(engine="none", password=SECRET)
    assert SECRET not in str(caught.value)


# -- targets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", TARGETS)
@pytest.mark.parametrize(
    "server",
    [
        SECRET,
        f"bench/{SECRET}@db1",
        f"local:{SECRET}",
        f"postgresql://bench:{SECRET}",
        f"postgresql://{SECRET}?{SECRET}=1",
        f"mysql://bench:{SECRET}",
        f"mysql://me@db/shop?{SECRET}=1",
        f"spark://bench:{SECRET}",
        *FORMS,
    ],
)
def test_no_target_quotes_a_server_that_it_cannot_read(engine: str, server: str) -> None:
    spec = TargetSpec(engine=engine, server=server)
    with pytest.raises(LoadstoneError) as caught:
        target_for(spec).describe(spec)
    assert SECRET not in f"{caught.value.message} {caught.value.advice}"


# -- logs --------------------------------------------------------------------------------------


def test_lines_of_a_log_are_kept_and_shown_without_passwords(tmp_path: Path) -> None:
    message = replace(messages_of("postgresql")[0], pattern="in ")
    lines = [f"2026-01-01 10:00:00 ERROR:  in {form}\n" for form in FORMS if "%3A" not in form]
    for line in lines:
        facts = collate(PostgreSQLLog().entries([line]), [message])
        assert facts.messages
        assert SECRET not in str(facts)
    log = tmp_path / "server.log"
    log.write_bytes("".join([*lines, FORMS[-1], "\n"]).encode() + b"\xff\n")
    kept = ExperimentFolder.create(tmp_path / "results", "x")
    with kept.trial(plan_of()) as trial:
        trial.keep_log(log)
        trial.write_inventory({"target": {"settings": {"report_password": SECRET}}})
    for path in kept.path.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()
