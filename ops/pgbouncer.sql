-- Timeouts for the role of the service behind a transaction pooler, which accepts no settings from a session. Otherwise the
-- service sets them itself. Run this once, as a superuser: psql -f ops/pgbouncer.sql
alter role service set statement_timeout = '5s';
alter role service set lock_timeout = '2s';
alter role service set idle_in_transaction_session_timeout = '10s';
