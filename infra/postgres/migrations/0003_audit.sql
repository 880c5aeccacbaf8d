-- Up Migration

-- An organization's slice of the log, for audit.
create index events_by_organization on log.events (organization_id, position);

-- Down Migration
