import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { listAllMembers, listMembers, MEMBERS_PER_PAGE, ROLES, type Member } from "../../api/members.ts";
import { useRole } from "../../api/useRole.ts";
import { readChoice } from "../../app/search.ts";
import { wordChoices } from "../../parts/Choices.tsx";
import { InputFilter, SelectFilter } from "../../parts/Filter.tsx";
import { Filters as Fold } from "../../parts/Filters.tsx";
import { QueryResult, NoMatch } from "../../parts/Notices.tsx";
import { Pagination } from "../../parts/Pagination.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { Time } from "../../parts/Time.tsx";
import { useFilterNavigate } from "../../parts/useFilterNavigate.ts";
import { FormerMembers } from "./FormerMembers.tsx";
import { isFiltered, matches, MEMBER_STATES, stateOf, type MemberSearch } from "./search.ts";

const route = getRouteApi("/members");

const COLUMNS: Columns<Member> = [
  {
    title: "Member",
    cell: ({ id, name, email }) => (
      <>
        <Link to="/members/$memberId" params={{ memberId: id }} data-row>
          {name}
        </Link>
        <br />
        <span className="quiet">{email}</span>
      </>
    ),
  },
  {
    title: "Role",
    className: "short",
    cell: ({ role }) => (
      <Link to="/members" search={{ role }}>
        {role}
      </Link>
    ),
  },
  { title: "State", cell: (member) => <Status status={stateOf(member)} /> },
  { title: "Joined", cell: ({ created_at }) => <Time at={created_at} /> },
];

function Filters({ search }: { search: MemberSearch }) {
  const navigate = useFilterNavigate();
  const change = (part: MemberSearch) =>
    void navigate({ to: "/members", replace: true, search: { ...search, page: undefined, ...part } });
  return (
    <Fold values={[search.q, search.role, search.state]}>
      <InputFilter label="Name or e-mail" type="search" isFirst value={search.q} onChange={(q) => change({ q })} />
      <SelectFilter
        label="Role"
        value={search.role}
        choices={wordChoices(ROLES)}
        onPick={(role) => change({ role: readChoice(role, ROLES) })}
      />
      <SelectFilter
        label="State"
        value={search.state}
        choices={wordChoices(MEMBER_STATES)}
        onPick={(state) => change({ state: readChoice(state, MEMBER_STATES) })}
      />
    </Fold>
  );
}

const List = ({ members }: { members: Member[] }) => (
  <Table caption="Members, by when they joined" columns={COLUMNS} rows={members} rowKey={({ id }) => id} />
);

/** The members that match the filters, from all members. */
function Found({ search }: { search: MemberSearch }) {
  const members = useQuery(listAllMembers);
  return (
    <QueryResult query={members} what="members">
      {({ data, isWhole }) => {
        const found = data.filter((member) => matches(member, search));
        if (found.length > 0) return <List members={found} />;
        return (
          <NoMatch what={isWhole ? "member" : "member of these"}>
            <Link to="/members">all members</Link>
          </NoMatch>
        );
      }}
    </QueryResult>
  );
}

/** All members, one page at a time. */
function Paged({ page: number = 0 }: { page: number | undefined }) {
  const members = useQuery(listMembers(number));
  return (
    <QueryResult query={members} what="members">
      {({ data, total }) => (
        <>
          {data.length > 0 && <List members={data} />}
          <Pagination
            page={number}
            perPage={MEMBERS_PER_PAGE}
            total={total}
            what="member"
            address={(to) => ({ to: "/members", search: { page: to } })}
          />
        </>
      )}
    </QueryResult>
  );
}

const Present = ({ search }: { search: MemberSearch }) => (
  <>
    <Filters search={search} />
    {isFiltered(search) ? <Found search={search} /> : <Paged page={search.page} />}
  </>
);

const VIEWS = ["present", "former"] as const;
const NAMES = { present: "Members", former: "Former members" };

/** The organization's people. Everybody sees them; administrators change them, and see who left. */
export function Members() {
  const search = route.useSearch();
  const { isAdmin } = useRole();
  const view = isAdmin && search.view ? search.view : "present";
  return (
    <section className="screen" aria-labelledby="title">
      <header className="title-line">
        <h1 id="title">Members</h1>
        {isAdmin && (
          <Link className="button primary" to="/members/new">
            Add a member
          </Link>
        )}
      </header>
      {isAdmin && (
        <Tabs
          label="Who"
          names={VIEWS}
          current={view}
          title={(name) => NAMES[name]}
          tab={(name, rest) => <Tab {...rest} to="/members" search={name === "former" ? { view: name } : {}} />}
        />
      )}
      {view === "former" ? <FormerMembers /> : <Present search={search} />}
    </section>
  );
}
