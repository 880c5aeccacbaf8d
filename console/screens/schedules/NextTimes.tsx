import { describeCron, nextTimes } from "../../format/cron.ts";
import { formatDue } from "../../format/index.ts";
import { useNow } from "../../parts/useNow.ts";

const SHOWN = 5;

const explain = (error: unknown): string => String((error as Error).message).replace(/^CronPattern: /, "");

/** The times of a schedule, in words and as the next times. */
export function NextTimes({ cron, time_zone }: { cron: string; time_zone: string }) {
  const now = useNow();
  if (!cron.trim() || !time_zone) return null;
  let times: Date[];
  try {
    times = nextTimes(cron.trim(), time_zone, new Date(now), SHOWN);
  } catch (error) {
    return (
      <p className="bad-text" role="status">
        {explain(error)}
      </p>
    );
  }
  if (times.length === 0)
    return (
      <p className="bad-text" role="status">
        No date fits it, so it never starts a run.
      </p>
    );
  return (
    <div role="status">
      <p>
        Starts {describeCron(cron)}, {time_zone} time. The next times:
      </p>
      <ol className="plain next-times quiet">
        {times.map((at) => (
          <li key={at.getTime()}>{formatDue(at, time_zone)}</li>
        ))}
      </ol>
    </div>
  );
}
