-- A removed credential keeps its row without the secret, so that created_at survives when it is set again.
-- The id is that of the provider's stream. It is derived from organization and name, so names need no index.
create table providers (
  id uuid primary key,
  organization_id uuid not null,
  name text not null,
  base_url text,
  models text,
  -- null: that of the name
  format text,
  context_windows text,
  -- of an endpoint of search
  model text,
  dimensions integer,
  sealed_api_key text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index providers_by_organization on providers (organization_id);
