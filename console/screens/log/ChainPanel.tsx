import { Link } from "@tanstack/react-router";
import { CAN_HASH } from "../../api/proof.ts";
import { formatCount } from "../../format/index.ts";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { Time } from "../../parts/Time.tsx";
import { BrokenEvent } from "./BrokenEvent.tsx";
import { ProofOfEvents } from "./ProofOfEvents.tsx";
import type { LogSearch } from "./search.ts";
import { useChainCheck, type ChainCheck } from "./useChainCheck.ts";

const WORDS = { running: "Checking: ", stopped: "Stopped: ", done: "Checked: " } as const;

function Progress({ now }: { now: ChainCheck }) {
  const { broken, checked, proof, state } = now;
  const isGood = state === "done" && !broken && !proof.differs;
  return (
    <>
      <p role="status" className={isGood ? "notice good" : "notice"}>
        {WORDS[state]}
        {formatCount(checked, "event")} {isGood ? "are what was written" : "fit"}
        {proof.last && state !== "done" && (
          <>
            , the last one of <Time at={proof.last.recorded_at} />
          </>
        )}
        .
      </p>
      {proof.differs && (
        <BrokenEvent event={proof.differs}>What is shown of it has another hash than what the log has.</BrokenEvent>
      )}
      {broken && !proof.differs && <BrokenEvent event={broken}>{broken.problem}</BrokenEvent>}
    </>
  );
}

/** Checks whether the events are unaltered: all of them, or those up to one. */
export function ChainPanel({ search }: { search: LogSearch }) {
  const { verify, expect: _, ...rest } = search;
  const upTo = verify === "all" ? undefined : verify;
  const { now, stop, again } = useChainCheck(upTo);
  return (
    <section className="card chain" aria-labelledby="chain">
      <h2 id="chain">The chain of events{upTo && ", up to the chosen one"}</h2>
      <p className="quiet">
        Each event has a hash that covers it and every event before it. The service recomputes those of your events
        {CAN_HASH && ", and this browser computes a hash of each from what it is shown and compares"}.
      </p>
      <Progress now={now} />
      {now.error !== undefined && <ErrorNotice error={now.error} onRetry={again} isByHand />}
      <ProofOfEvents now={now} search={search} />
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
