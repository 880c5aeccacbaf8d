-- Up Migration

-- An attempt whose password was not judged, because of a fault or a killed process, counts for some seconds only. The release before
-- judges none, so all of its attempts count.
alter table ops.login_attempts add column is_wrong boolean not null default true;

-- Down Migration
