import { getRouteApi } from "@tanstack/react-router";
import type { Run } from "../../api/run.ts";
import { isLive } from "./Continuations.tsx";
import { LongList } from "../../parts/LongList.tsx";
import { useNow } from "../../parts/useNow.ts";
import { boundsOf, entriesOf } from "./span.ts";
import { StepRow } from "./StepRow.tsx";
import { WaitRow } from "./WaitRow.tsx";

const ROW_HEIGHT = 45;
const route = getRouteApi("/runs/$runId");

/** The steps and waits in the order in which `run()` asked for them, each over the time it took. */
export function Timeline({ run }: { run: Run }) {
  const { step: open } = route.useSearch();
  const bounds = boundsOf(run, useNow());
  const entries = entriesOf(run);
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
      <LongList items={entries} height={ROW_HEIGHT}>
        {({ id, step, wait }) =>
          step ? (
            <StepRow key={id} run={run} step={step} isOpen={open === id} bounds={bounds} />
          ) : (
            <WaitRow key={id} run={run} wait={wait} isOpen={open === id} bounds={bounds} />
          )
        }
      </LongList>
    </section>
  );
}
