-- A removed credential leaves its row without a secret, so that one set again keeps the day it was first set.
-- The id is that of the provider's stream and follows from organization and name, so no index on names is needed.
create table providers (
  id uuid primary key,
  organization_id uuid not null,
  name text not null,
  base_url text,
  models text,
  sealed_api_key text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index providers_by_organization on providers (organization_id);
