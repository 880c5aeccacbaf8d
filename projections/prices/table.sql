-- What an organization set as the prices of a model. Prices that are removed keep their row without a list, so that
-- created_at survives when they are set again. The id is that of the stream, which is derived from organization and model.
create table prices (
  id uuid primary key,
  organization_id uuid not null,
  model text not null,
  prices text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index prices_by_organization on prices (organization_id);
