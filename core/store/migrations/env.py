"""Runs the migrations on the connection it is handed, inside the transaction that is open on it."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()
