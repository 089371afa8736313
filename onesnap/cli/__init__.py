"""The command line.

app          the commands, errors as one line, and commands of other packages
bars         progress bars
options      arguments and options that several commands take
data         info, rollout, score and plot: commands on users' own files
learn        fit
parts        the same in parts: prepare, accumulate, combine
information  what info says of a file
doctor       what is installed, used and missing
plain        output for terminals that do not know all letters
demo         the whole way in one call
demo_page    its page
experiment   what a run of it comes to, in numbers and in words
stopwatch    how long its stages took
words        what goes to the terminal, made printable
"""

from .app import app as app
