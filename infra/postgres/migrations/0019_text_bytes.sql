-- Up Migration

-- What the texts of an organization's documents take, beyond their files.
alter table ops.log_bytes add column text_bytes bigint not null default 0;

-- Down Migration
