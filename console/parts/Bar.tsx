import "./bar.css";

/** A time, in epoch milliseconds. */
export interface Bounds {
  from: number;
  to: number;
}

/** Minimum visible width, in percent. */
const MIN_WIDTH = 0.6;

function spanOf({ from, to }: Bounds, start: number, end: number): { left: number; width: number } {
  const left = ((start - from) / (to - from)) * 100;
  const width = ((end - start) / (to - from)) * 100;
  return {
    left: Math.min(100 - MIN_WIDTH, Math.max(0, left)),
    width: Math.max(MIN_WIDTH, Math.min(100 - left, width)),
  };
}

/** The period of an activity within a longer time. The numbers are beside it as text. */
export function Bar({ within, start, end, tone }: { within: Bounds; start: number; end: number; tone: string }) {
  const { left, width } = spanOf(within, start, end);
  return (
    <span className="bar" aria-hidden="true">
      <span className={`bar-fill ${tone}`} style={{ left: `${left}%`, width: `${width}%` }} />
    </span>
  );
}
