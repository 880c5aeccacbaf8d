import { Link } from "@tanstack/react-router";
import type { TargetHealth } from "../../api/health.ts";
import { formatCount } from "../../format/index.ts";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";

const WORDS: Record<TargetHealth["state"], string> = {
  closed: "is asked",
  half_open: "is tried by the next request",
  open: "is not asked",
};

const State = ({ target: { state, open_in, failures, retry_at } }: { target: TargetHealth }) => (
  <>
    <span className={state === "closed" ? undefined : "bad-text"}>{WORDS[state]}</span>
    {state === "open" && (
      <span className="quiet block">
        in {formatCount(open_in, "process", "processes")}
        {retry_at && (
          <>
            , again <Time at={retry_at} />
          </>
        )}
      </span>
    )}
    {failures > 0 && <span className="quiet block">{formatCount(failures, "failure")} since its last answer</span>}
  </>
);

const COLUMNS: Columns<TargetHealth> = [
  {
    title: "Model",
    cell: ({ target, aliases }) => (
      <>
        <Link to="/requests" search={{ model: target }} data-row>
          {target}
        </Link>
        {aliases.length > 0 && <span className="quiet block">of {aliases.join(", ")}</span>}
      </>
    ),
  },
  { title: "State", cell: (target) => <State target={target} /> },
  { title: "Last error", cell: ({ last_error }) => last_error },
  { title: "Failing since", cell: ({ since }) => since && <Time at={since} /> },
];

/** The state of the models in aliases, and of directly named models that failed. Empty if there are none. */
export const Targets = ({ targets }: { targets: TargetHealth[] }) =>
  targets.length > 0 && (
    <section className="stack" aria-labelledby="targets">
      <h2 id="targets">Models</h2>
      <p className="quiet">
        Those of aliases, and others that have failed since they answered last. A model that fails again and again is
        not asked for a while, and then tried by one request. Each process notices it for itself.{" "}
        <Link to="/spending" search={{ section: "aliases" }}>
          The aliases
        </Link>
      </p>
      <Table caption="Models" columns={COLUMNS} rows={targets} rowKey={({ target }) => target} />
    </section>
  );
