import type { ReadingProgress as Progress } from "../api/types.ts";
import { formatCount, formatNumber } from "../format/index.ts";

/** How many scanned pages of a file were read. `name`: the file's. */
export const ReadingProgress = ({ name, progress }: { name: string; progress: Progress | undefined }) =>
  progress && (
    <div>
      <p className="quiet">
        {formatNumber(progress.pages_read)} of {formatCount(progress.pages_total, "scanned page")} read
      </p>
      <progress
        aria-label={`Scanned pages of ${name} that were read`}
        value={progress.pages_read}
        max={progress.pages_total}
      />
    </div>
  );
