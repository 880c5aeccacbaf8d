import { changeTrigger, deleteTrigger, type Trigger } from "../../api/triggers.ts";
import { ThingActions } from "../../parts/ThingActions.tsx";

/** Pauses, resumes and deletes a schedule. */
export function ScheduleActions({ schedule }: { schedule: Trigger }) {
  const { name, paused } = schedule;
  const actions = [
    { label: paused ? "Resume" : "Pause", run: () => changeTrigger(schedule, { paused: !paused }) },
    {
      label: "Remove",
      question: `Remove the schedule “${name}”? It starts no run any more. Its runs stay.`,
      isDangerous: true,
      run: () => deleteTrigger(schedule),
    },
  ];
  return <ThingActions actions={actions} kind="trigger" />;
}
