import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listDeadLetters, removeDeadLetter, replayDeadLetter, type DeadLetter } from "../../api/health.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";
import { Time } from "../../parts/Time.tsx";

const Actions = ({ seq }: DeadLetter) => (
  <ThingActions
    kind="health"
    actions={[
      { label: "Send again", run: () => replayDeadLetter(seq) },
      {
        label: "Remove",
        question: `Remove dead letter ${seq}? Its command will never run.`,
        isDangerous: true,
        run: () => removeDeadLetter(seq),
      },
    ]}
  />
);

const COLUMNS: Columns<DeadLetter> = [
  {
    title: "Message",
    cell: ({ seq, kind, type, stream }) => (
      <>
        {type ?? `A ${kind}`} <span className="quiet">{seq}</span>
        {stream && (
          <Link className="mono block" to="/log" search={{ stream }} data-row>
            {stream}
          </Link>
        )}
      </>
    ),
  },
  {
    title: "Why",
    cell: ({ reason, error, request_id }) => (
      <>
        {reason}
        <span className="bad-text block">{error}</span>
        {request_id && <span className="quiet mono block">request {request_id}</span>}
      </>
    ),
  },
  { title: "Since", cell: ({ at }) => <Time at={at} /> },
  { title: "Actions", cell: (letter) => <Actions {...letter} /> },
];

/** Messages that failed five times, or could not be decoded. */
export function DeadLetters() {
  const letters = useQuery(listDeadLetters);
  return (
    <section className="stack" aria-labelledby="dead">
      <h2 id="dead">Dead letters</h2>
      <QueryResult query={letters} what="dead letters">
        {({ data, has_more }) =>
          data.length === 0 ? (
            <p className="quiet">None: every command and every reaction of your organization was handled.</p>
          ) : (
            <>
              <Table
                caption="Dead letters, oldest first"
                columns={COLUMNS}
                rows={data}
                rowKey={({ seq }) => String(seq)}
              />
              {has_more && <p className="quiet">There are more: these are the oldest.</p>}
            </>
          )
        }
      </QueryResult>
    </section>
  );
}
