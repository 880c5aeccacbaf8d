create table organizations (
  id uuid primary key,
  name text not null,
  scripted_tools boolean not null,
  created_at timestamptz not null
);
