import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { deleteOwned, listOwned, OWNED_KINDS, type OwnedKind, type OwnedThing } from "../../api/owned.ts";
import { formatBytes } from "../../format/index.ts";
import { kindWord } from "../../format/kindWord.ts";
import type { Action } from "../../parts/action.ts";
import { Form } from "../../parts/Form.tsx";
import { EmptyState, ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { PastEnd } from "../../parts/Pagination.tsx";
import { removalColumn } from "../../parts/RemoveButton.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { Time } from "../../parts/Time.tsx";
import { useChange } from "../../parts/useChange.ts";
import { readSubject, SubjectField, useSubjectName } from "./SubjectField.tsx";

const OWNERS = ["person", "key", "agent"] as const;

const nameOf = ({ title, filename }: OwnedThing): string => filename ?? (title || "Untitled");

const columns = (removal: Action<string>): Columns<OwnedThing> => [
  {
    title: "What",
    cell: (thing) => (
      <>
        {thing.newest_turn_id ? (
          <Link to="/requests/$turnId" params={{ turnId: thing.newest_turn_id }} data-row>
            {nameOf(thing)}
          </Link>
        ) : (
          nameOf(thing)
        )}
        {thing.bytes !== undefined && <span className="quiet block">{formatBytes(thing.bytes)}</span>}
      </>
    ),
  },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  removalColumn<OwnedThing>(removal, (thing) => ({
    id: thing.id,
    label: "Delete",
    about: nameOf(thing),
    question: `Delete “${nameOf(thing)}” for good? What was said in it cannot be brought back.`,
  })),
];

interface ListProps {
  kind: OwnedKind;
  owner: string;
  after: string | undefined;
}

const Nothing = ({ kind, owner, after }: ListProps) =>
  after === undefined ? (
    <EmptyState title={`There are no ${kindWord(kind)}`}>
      <p>Look at another kind, or whose they may be instead.</p>
    </EmptyState>
  ) : (
    <PastEnd what={kindWord(kind)} first={{ to: "/privacy", search: { section: "contents", subject: owner, kind } }} />
  );

function List({ kind, owner, after }: ListProps) {
  const found = useQuery(listOwned(kind, owner, after));
  const removal = useChange("thread", (id: string) => deleteOwned(kind, id));
  return (
    <QueryResult query={found} what={kindWord(kind)}>
      {({ data, next_after }) => (
        <>
          {removal.isError && <ErrorNotice error={removal.error} />}
          {data.length === 0 && <Nothing kind={kind} owner={owner} after={after} />}
          {data.length > 0 && (
            <Table
              caption={`${kindWord(kind)}, newest first`}
              columns={columns(removal)}
              rows={data}
              rowKey={({ id }) => id}
            />
          )}
          {next_after && (
            <Link
              className="button"
              to="/privacy"
              search={{ section: "contents", subject: owner, kind, after: next_after }}
            >
              Earlier
            </Link>
          )}
        </>
      )}
    </QueryResult>
  );
}

interface Props {
  chosen: string | undefined;
  kind: OwnedKind | undefined;
  after: string | undefined;
}

/** The data of a subject, one item at a time. */
export function Contents({ chosen, kind = "threads", after }: Props) {
  const navigate = useNavigate();
  const name = useSubjectName();
  const show = useMutation({
    mutationFn: async (form: FormData) =>
      navigate({ to: "/privacy", search: { section: "contents", subject: readSubject(form) } }),
  });
  return (
    <>
      <Form submit="Show" send={show}>
        <h2>Whose conversations, responses and files?</h2>
        <SubjectField kinds={OWNERS} chosen={chosen} />
      </Form>
      {chosen && (
        <section className="stack" aria-labelledby="owned">
          <h2 id="owned">What {name(chosen)} has</h2>
          <p>
            Delete one of these, or{" "}
            <Link to="/privacy" search={{ section: "erasures", subject: chosen }}>
              all of it by an erasure
            </Link>
            .
          </p>
          <Tabs
            label="Kind"
            names={OWNED_KINDS}
            current={kind}
            title={kindWord}
            tab={(one, rest) => (
              <Tab {...rest} to="/privacy" search={{ section: "contents", subject: chosen, kind: one }} />
            )}
          />
          <List kind={kind} owner={chosen} after={after} />
        </section>
      )}
    </>
  );
}
