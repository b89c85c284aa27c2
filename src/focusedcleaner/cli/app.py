"""The commands, and how their errors are reported.

The function of a command is imported when the command runs, so that ``--help`` needs neither torch nor numpy.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from focusedcleaner.cli import options, signals
from focusedcleaner.cli.options import JsonOption, option
from focusedcleaner.cli.output import watched_output
from focusedcleaner.errors import InputError

# Some versions of typer bundle click and some import it: the base class of its usage errors is found, not named.
_UsageError: type[Exception] = typer.BadParameter.__mro__[2]


class OneLineErrors(TyperGroup):
    """Reports input errors, usage errors, lack of memory and interruptions in one line, with exit code 2.

    After SIGTERM and SIGHUP the exit code is 143 and 129, as for other programs.
    """

    def invoke(self, ctx: Any) -> Any:
        with signals.handled() as interruption:
            try:
                result = super().invoke(ctx)
            except InputError as error:
                raise _failure(f"error: {error}") from None
            except (MemoryError, RuntimeError) as error:
                if not isinstance(error, MemoryError) and "allocate memory" not in str(error):  # torch's
                    raise
                raise _failure("error: the command needs more memory than there is") from None
            except KeyboardInterrupt as stop:
                raise _failure(str(stop) or "interrupted", interruption.exit_code or 2) from None
            if interruption.exit_code is not None:
                raise typer.Exit(interruption.exit_code)
            return result

    def main(self, args: Sequence[str] | None = None, *more: Any, **settings: Any) -> Any:
        words = list(sys.argv[1:] if args is None else args)
        with watched_output() as output:
            try:
                if any("\0" in word for word in words):
                    raise typer.BadParameter("an argument holds a NUL character")
                code = super().main(words, *more, **{**settings, "standalone_mode": False, "obj": words})
            except _UsageError as error:
                code = _failure(f"error: {getattr(error, 'format_message', error.__str__)()}").exit_code
            except OSError:
                if output.error is None:
                    raise
        if isinstance(output.error, BrokenPipeError):
            code = 1
        elif output.error is not None:
            code = _failure(f"error: standard output: {output.error.strerror}").exit_code
        if settings.get("standalone_mode", True):
            sys.exit(code)
        return code


def _failure(line: str, code: int = 2) -> typer.Exit:
    from focusedcleaner.cli.console import print_error

    print_error(line)
    return typer.Exit(code)


app = typer.Typer(
    cls=OneLineErrors,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
datasets_app = typer.Typer(rich_markup_mode="rich")
app.add_typer(datasets_app, name="datasets")


def _command(target: str, declared: type) -> None:
    """Register the command ``MODULE.NAME``, a function of that module, with the class of the options that it takes."""
    module, name = target.split(".")

    def invoke(**values: Any) -> None:
        from focusedcleaner.cli.console import warnings_as_notes

        with warnings_as_notes():
            getattr(import_module(f"focusedcleaner.cli.{module}"), name)(declared(**values))

    invoke.__signature__ = inspect.signature(declared, eval_str=True)  # type: ignore[attr-defined]
    app.command(name, help=declared.__doc__)(invoke)


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context, version: Annotated[bool, option("Show the version and exit.", None, "--version")] = False
) -> None:
    """Find and remove the edges that an attacker planted in a graph."""
    if version:
        from focusedcleaner import __version__

        typer.echo(f"focusedcleaner {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@datasets_app.callback(invoke_without_command=True)
def datasets(ctx: typer.Context, json: JsonOption = False) -> None:
    """List the data sets, or fetch one."""
    if ctx.invoked_subcommand is None:
        datasets_list(json)


@datasets_app.command("list")
def datasets_list(json: JsonOption = False) -> None:
    """List the data sets with their sources and checksums."""
    from focusedcleaner.cli.info import list_datasets

    list_datasets(json=json)


@datasets_app.command("get")
def datasets_get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A data set's name.")], json: JsonOption = False
) -> None:
    """Fetch a data set, unless it is on this machine, and print its path."""
    from focusedcleaner.cli.info import fetch_dataset

    fetch_dataset(name, json=json)


_command("demo.demo", options.DemoOptions)
_command("info.check", options.CheckOptions)
_command("ingest.ingest", options.IngestOptions)
_command("generate.generate", options.GenerateOptions)
_command("attack.attack", options.AttackOptions)
_command("sanitize.sanitize", options.SanitizeOptions)
_command("finished_runs.score", options.ScoreOptions)
_command("classify.classify", options.ClassifyOptions)
_command("review.review", options.ReviewOptions)
_command("review.apply", options.ApplyOptions)
_command("finished_runs.restore", options.RestoreOptions)
_command("reproduce.reproduce", options.ReproduceOptions)
_command("finished_runs.report", options.ReportOptions)
_command("info.methods", options.MethodsOptions)
_command("doctor.doctor", options.DoctorOptions)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit: with code 0 after success, 2 after an input error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that is not UTF-8 shows ? for the letters it lacks
    app(None if arguments is None else list(arguments), prog_name="focusedcleaner")
