import { Link } from "@tanstack/react-router";
import type { CheckedRun, Outcome } from "../../api/checkRuns.ts";
import { formatCount, formatNumber, shortId } from "../../format/index.ts";
import { FocusableButton } from "../../parts/FocusableButton.tsx";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { describeOutcome } from "./describeDifference.ts";
import { useRunCheck, type RunCheck } from "./useRunCheck.ts";

const lineOf = ({ difference, error }: CheckedRun): number | null => (error ?? difference)?.line ?? null;

const COLUMNS: Columns<CheckedRun> = [
  {
    title: "Run",
    cell: ({ run_id, definition_version }) => (
      <>
        <Link to="/runs/$runId" params={{ runId: run_id }} target="_blank" className="mono">
          {shortId(run_id)}
        </Link>{" "}
        <span className="quiet">version {definition_version}</span>
      </>
    ),
  },
  { title: "With this source", cell: ({ outcome }) => <Status status={outcome} /> },
  {
    title: "Where",
    cell: (run) => (
      <>
        {lineOf(run) !== null && <strong>line {lineOf(run)}: </strong>}
        {describeOutcome(run)}
      </>
    ),
  },
];

const WORDS: [Outcome, string][] = [
  ["same", "go the same way"],
  ["different", "go another way"],
  ["failed", "fail"],
  ["unanswered", "ask for something new"],
];

/** The progress and the results of the check. */
function Summary({ check: { counts, isRunning, cursor } }: { check: RunCheck }) {
  if (!isRunning && counts.checked === 0)
    return <p className="quiet">No run of this code is stored, so there is nothing to compare with.</p>;
  const found = WORDS.filter(([outcome]) => counts[outcome] > 0);
  const isGood = !isRunning && counts.same === counts.checked;
  return (
    <p className={isGood ? "notice good" : "notice"}>
      {isRunning ? "Checking… " : "Checked "}
      {formatCount(counts.checked, "run")}
      {found.length > 0 && ": "}
      {found.map(([outcome, words]) => `${formatNumber(counts[outcome])} ${words}`).join(", ")}.
      {!isRunning && cursor !== null && " Older runs are not checked."}
    </p>
  );
}

interface Props {
  id: string;
  source: string;
  /** The service would refuse the source. */
  isFaulty: boolean;
}

/** Shows which stored runs would take another path with the edited source. Executes no step. */
export function CheckRuns({ id, source, isFaulty }: Props) {
  const { check, begin, resume, stop } = useRunCheck(id);
  const isRunning = check?.isRunning === true;
  return (
    <section className="stack" aria-labelledby="stored">
      <h2 id="stored">Stored runs</h2>
      <p className="quiet">
        Replays the runs that you have with this source and their recorded answers. No step is executed, and nothing is
        saved.
      </p>
      <p className="buttons">
        <FocusableButton type="button" className="button" isOff={isRunning || isFaulty} onClick={() => begin(source)}>
          Check against stored runs
        </FocusableButton>
        {isRunning && (
          <button type="button" className="button" onClick={stop}>
            Stop
          </button>
        )}
        {check && !isRunning && check.cursor !== null && check.source === source && (
          <button type="button" className="button" onClick={resume}>
            Check older runs
          </button>
        )}
      </p>
      {check && check.source !== source && <p className="notice warn">The source was changed after this check.</p>}
      <div role="status">{check && <Summary check={check} />}</div>
      {check?.error !== undefined && <ErrorNotice error={check.error} onRetry={resume} isByHand />}
      {check && check.listed.length > 0 && (
        <Table
          caption="Runs that do not go the same way"
          columns={COLUMNS}
          rows={check.listed}
          rowKey={({ run_id }) => run_id}
        />
      )}
    </section>
  );
}
