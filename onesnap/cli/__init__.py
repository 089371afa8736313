"""The command line."""

from .app import app as app
