-- What the role of the service needs behind a transaction pooler, which takes no settings from a session: the time-outs
-- that the service otherwise sets for itself. As a superuser, once: psql -f ops/pgbouncer.sql
alter role service set statement_timeout = '5s';
alter role service set lock_timeout = '2s';
alter role service set idle_in_transaction_session_timeout = '10s';
