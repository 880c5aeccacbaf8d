import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listFormerMembers } from "../../api/formerMembers.ts";
import { describeFormerMember, type FormerMember } from "../../format/formerMember.ts";
import { PrincipalLink } from "../../parts/ActorLink.tsx";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";

const COLUMNS: Columns<FormerMember> = [
  {
    title: "Former member",
    cell: (one) => (
      <Link to="/members/$memberId" params={{ memberId: one.id }} data-row>
        {describeFormerMember(one)}
      </Link>
    ),
  },
  { title: "Left", cell: ({ removed_at }) => <Time at={removed_at} /> },
  { title: "Removed by", cell: ({ removed_by }) => <PrincipalLink principal={removed_by} /> },
  {
    title: "See",
    cell: ({ id }) => (
      <>
        <Link to="/requests" search={{ who: `person:${id}` }}>
          what they asked
        </Link>
        {" · "}
        <Link to="/privacy" search={{ section: "erasures", subject: `person:${id}` }}>
          delete what they said
        </Link>
      </>
    ),
  },
];

/** Removed people, for administrators. Their names are deleted, so the list shows the data left in the log. */
export function FormerMembers() {
  const former = useQuery(listFormerMembers);
  return (
    <QueryResult query={former} what="former members">
      {(people) =>
        people.length === 0 ? (
          <EmptyState title="Nobody has left" />
        ) : (
          <>
            <p className="quiet">
              Names and addresses were deleted for good when these people were removed. When they came and went, and as
              what, is in the log.
            </p>
            <Table
              caption="Former members, the one who left last first"
              columns={COLUMNS}
              rows={people}
              rowKey={({ id }) => id}
            />
          </>
        )
      }
    </QueryResult>
  );
}
