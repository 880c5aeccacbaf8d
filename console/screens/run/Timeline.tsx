import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { listSteps, STEPS_PER_PAGE, type Run } from "../../api/run.ts";
import type { Bounds } from "../../parts/Bar.tsx";
import { VirtualRows, splitIntoChunks } from "../../parts/VirtualRows.tsx";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { StepItem } from "../../parts/StepLine.tsx";
import { useNow } from "../../parts/useNow.ts";
import { isLive } from "./Continuations.tsx";
import { boundsOf, listEntries, type TimelineEntry } from "./timelineEntries.ts";
import { StepRow } from "./StepRow.tsx";
import { WaitRow } from "./WaitRow.tsx";

const ROW_HEIGHT = 45;
const route = getRouteApi("/runs/$runId");

interface RowsProps {
  run: Run;
  entries: readonly TimelineEntry[];
  bounds: Bounds;
}

/** A placeholder for a step that is loading. */
const Blank = () => (
  <StepItem
    line={
      <p className="step-line">
        <span className="quiet">…</span>
      </p>
    }
  />
);

/** Some rows of the timeline, whose steps are loaded together. */
function Rows({ run, entries, bounds }: RowsProps) {
  const { step: open } = route.useSearch();
  const first = entries.find(({ place }) => place !== undefined)?.place;
  const read = useQuery({ ...listSteps(run.id, first ?? 0), enabled: first !== undefined });
  return (
    <>
      {read.isError && (
        <li>
          <ErrorNotice error={read.error} onRetry={() => void read.refetch()} />
        </li>
      )}
      {entries.map(({ place, wait }) => {
        if (wait) return <WaitRow key={wait.key} run={run} wait={wait} isOpen={open === wait.key} bounds={bounds} />;
        const step = read.data?.data[place - (first ?? 0)];
        if (!step) return <Blank key={place} />;
        return <StepRow key={place} run={run} step={step} place={place} isOpen={open === step.id} bounds={bounds} />;
      })}
    </>
  );
}

/** The steps and waits in the order of their calls by `run()`, each over its duration. */
export function Timeline({ run }: { run: Run }) {
  const bounds = boundsOf(run, useNow());
  const entries = listEntries(run);
  if (entries.length === 0)
    return (
      <p className="quiet">
        {isLive(run)
          ? "No step has been scheduled yet."
          : "The run ended without a step and without waiting for anything."}
      </p>
    );
  return (
    <section className="card timeline" aria-labelledby="steps">
      <h2 id="steps">{run.waits.length > 0 ? "Steps and waits" : "Steps"}</h2>
      {splitIntoChunks(entries).map((chunk, n) => (
        <VirtualRows
          key={n * STEPS_PER_PAGE}
          as="ol"
          n={n}
          height={chunk.length * ROW_HEIGHT}
          rows={() => <Rows run={run} entries={chunk} bounds={bounds} />}
        />
      ))}
    </section>
  );
}
