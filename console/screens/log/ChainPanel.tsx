import { Link } from "@tanstack/react-router";
import { formatCount } from "../../format/index.ts";
import { ErrorNotice } from "../../parts/Notices.tsx";
import type { LogSearch } from "./search.ts";
import { useChainCheck, type ChainCheck } from "./useChainCheck.ts";

const Broken = ({ broken }: { broken: NonNullable<ChainCheck["broken"]> }) => (
  <div className="notice bad" role="alert">
    <p>
      <strong>
        {broken.type}, event {broken.version} of{" "}
        <Link className="mono" to="/log" search={{ stream: broken.stream, event: broken.cursor }}>
          {broken.stream}
        </Link>
        , does not fit:
      </strong>{" "}
      {broken.problem}
    </p>
    <p>
      The events before it fit. Ask the operator of the service to run <code>svc log verify</code>, and keep a backup.
    </p>
  </div>
);

const WORDS = { running: "Checking: ", stopped: "Stopped: ", done: "Checked: " } as const;

/** Whether the events are what was written: all of them, or those up to one. */
export function ChainPanel({ search }: { search: LogSearch }) {
  const { verify, ...rest } = search;
  const upTo = verify === "all" ? undefined : verify;
  const { now, stop, again } = useChainCheck(upTo);
  const isGood = now.state === "done" && !now.broken;
  return (
    <section className="card chain" aria-labelledby="chain">
      <h2 id="chain">The chain of events{upTo && ", up to the chosen one"}</h2>
      <p className="quiet">
        Each event has a hash that covers it and every event before it. The service recomputes those of your events.
      </p>
      <p role="status" className={isGood ? "notice good" : "notice"}>
        {WORDS[now.state]}
        {formatCount(now.checked, "event")} {isGood ? "are what was written." : "fit."}
      </p>
      {now.broken && <Broken broken={now.broken} />}
      {now.error !== undefined && <ErrorNotice error={now.error} onRetry={again} />}
      {now.hash && (
        <p>
          Hash of the last one: <code className="hash">{now.hash}</code>{" "}
          <span className="quiet">Note it: an operator can compare it with an export of the log.</span>
        </p>
      )}
      <p className="buttons">
        {now.state === "running" ? (
          <button type="button" className="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="button" className="button" onClick={again}>
            Check again
          </button>
        )}
        <Link className="button" to="/log" search={rest}>
          Close
        </Link>
      </p>
    </section>
  );
}
