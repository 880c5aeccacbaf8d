import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { listMembers, MEMBERS_PER_PAGE, ROLES, type Member } from "../../api/members.ts";
import type { Page } from "../../api/types.ts";
import { useRole } from "../../api/useRole.ts";
import { readChoice } from "../../app/search.ts";
import { wordChoices } from "../../parts/Choices.tsx";
import { InputFilter, SelectFilter } from "../../parts/Filter.tsx";
import { Filters as Fold } from "../../parts/Filters.tsx";
import { Loaded, NoMatch } from "../../parts/Notices.tsx";
import { Pages } from "../../parts/Pages.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { Time } from "../../parts/Time.tsx";
import { useFilterNavigate } from "../../parts/useFilterNavigate.ts";
import { FormerMembers } from "./FormerMembers.tsx";
import { matches, MEMBER_STATES, stateOf, type MemberSearch } from "./search.ts";

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

function Found({ page, search }: { page: Page<Member>; search: MemberSearch }) {
  const { page: number = 0, ...filter } = search;
  const members = page.data.filter((member) => matches(member, filter));
  return (
    <>
      {members.length === 0 ? (
        <NoMatch what={page.total > MEMBERS_PER_PAGE ? "member of this page" : "member"}>
          <Link to="/members">all members</Link>
        </NoMatch>
      ) : (
        <Table caption="Members, by when they joined" columns={COLUMNS} rows={members} rowKey={({ id }) => id} />
      )}
      <Pages
        page={number}
        perPage={MEMBERS_PER_PAGE}
        total={page.total}
        what="member"
        link={(to, label) => (
          <Link className="button" to="/members" search={{ ...filter, page: to || undefined }}>
            {label}
          </Link>
        )}
      />
    </>
  );
}

function Present({ search }: { search: MemberSearch }) {
  const members = useQuery(listMembers(search.page));
  return (
    <>
      <Filters search={search} />
      <Loaded query={members} what="members">
        {(page) => <Found page={page} search={search} />}
      </Loaded>
    </>
  );
}

const VIEWS = ["present", "former"] as const;
const NAMES = { present: "Members", former: "Former members" };

/** The people of the organization. Everybody sees them; administrators change them, and see who left. */
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
