import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { KEY_STATES, KEYS_PER_PAGE, listAllKeys, listKeys, stateOf, type Key } from "../../api/keys.ts";
import { listProjects, type Project } from "../../api/settings.ts";
import type { Listing } from "../../api/readAll.ts";
import { readChoice } from "../../app/search.ts";
import { namedChoices, wordChoices } from "../../parts/Choices.tsx";
import { InputFilter, SelectFilter } from "../../parts/Filter.tsx";
import { Filters as Fold } from "../../parts/Filters.tsx";
import { EmptyState, QueryResult, NoMatch } from "../../parts/Notices.tsx";
import { Pagination } from "../../parts/Pagination.tsx";
import { ForAdministrators } from "../../parts/ForRole.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { useNow } from "../../parts/useNow.ts";
import { useFilterNavigate } from "../../parts/useFilterNavigate.ts";
import { isFiltered, matches, NO_PROJECT, type KeySearch } from "./search.ts";

const route = getRouteApi("/keys");

const columns = (projects: Project[], now: number): Columns<Key> => [
  {
    title: "Key",
    cell: ({ id, name, key_hint }) => (
      <Link to="/keys/$keyId" params={{ keyId: id }} data-row>
        {name} <bdi className="mono quiet one-word">…{key_hint}</bdi>
      </Link>
    ),
  },
  { title: "State", cell: (key) => <Status status={stateOf(key, now)} /> },
  {
    title: "Project",
    cell: ({ project_id }) =>
      project_id && (
        <Link to="/keys" search={{ project: project_id }}>
          {projects.find(({ id }) => id === project_id)?.name ?? project_id}
        </Link>
      ),
  },
  { title: "Last used", cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} /> : "never") },
  { title: "Expires", cell: ({ expires_at }) => expires_at && <Time at={expires_at} /> },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
];

function Filters({ search, projects }: { search: KeySearch; projects: Listing<Project> | undefined }) {
  const navigate = useFilterNavigate();
  const change = (part: KeySearch) =>
    void navigate({ to: "/keys", replace: true, search: { ...search, page: undefined, ...part } });
  return (
    <Fold values={[search.q, search.state, search.project]}>
      <InputFilter
        label="Name, or end of the secret"
        type="search"
        isFirst
        value={search.q}
        onChange={(q) => change({ q })}
      />
      <SelectFilter
        label="State"
        value={search.state}
        choices={wordChoices(KEY_STATES)}
        onPick={(state) => change({ state: readChoice(state, KEY_STATES) })}
      />
      <SelectFilter
        label="Project"
        value={search.project}
        choices={[{ value: NO_PROJECT, label: "without a project" }, ...namedChoices(projects, "projects")]}
        onPick={(project) => change({ project })}
      />
    </Fold>
  );
}

const NoKeys = () => (
  <EmptyState title="There are no API keys">
    <ol>
      <li>
        <Link to="/keys/new">Create a key</Link>, and copy its secret, which is shown once.
      </li>
      <li>
        Send it with each request: <code>authorization: Bearer sk-…</code>
      </li>
      <li>See here when it was last used, and under Requests what it asked.</li>
    </ol>
  </EmptyState>
);

interface ListProps {
  keys: Key[];
  projects: Project[];
}

const List = ({ keys, projects }: ListProps) => (
  <Table caption="API keys, newest first" columns={columns(projects, useNow())} rows={keys} rowKey={({ id }) => id} />
);

/** The keys that match the filters, from all keys. */
function Found({ search, projects }: { search: KeySearch; projects: Project[] }) {
  const keys = useQuery(listAllKeys);
  const now = useNow();
  return (
    <QueryResult query={keys} what="keys">
      {({ data, isWhole }) => {
        const found = data.filter((key) => matches(key, search, now));
        if (found.length > 0) return <List keys={found} projects={projects} />;
        return (
          <NoMatch what={isWhole ? "key" : "key of these"}>
            <Link to="/keys">all keys</Link>
          </NoMatch>
        );
      }}
    </QueryResult>
  );
}

/** All keys, one page at a time. */
function Paged({ page: number = 0, projects }: { page: number | undefined; projects: Project[] }) {
  const keys = useQuery(listKeys(number));
  return (
    <QueryResult query={keys} what="keys">
      {({ data, total }) => (
        <>
          {data.length > 0 && <List keys={data} projects={projects} />}
          {data.length === 0 && number === 0 && <NoKeys />}
          <Pagination
            page={number}
            perPage={KEYS_PER_PAGE}
            total={total}
            what="key"
            address={(to) => ({ to: "/keys", search: { page: to } })}
          />
        </>
      )}
    </QueryResult>
  );
}

function KeyList() {
  const search = route.useSearch();
  const { data } = useQuery(listProjects);
  const projects = data?.data ?? [];
  return (
    <section className="screen" aria-labelledby="title">
      <header className="title-line">
        <h1 id="title">Keys</h1>
        <Link className="button primary" to="/keys/new">
          New key
        </Link>
      </header>
      <Filters search={search} projects={data} />
      {isFiltered(search) ? (
        <Found search={search} projects={projects} />
      ) : (
        <Paged page={search.page} projects={projects} />
      )}
    </section>
  );
}

/** The API keys of the organization, newest first. */
export const Keys = () => (
  <ForAdministrators what="API keys">
    <KeyList />
  </ForAdministrators>
);
