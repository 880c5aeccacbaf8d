import { formatJson } from "../format/index.ts";
import "./valueBlock.css";

/** A value as JSON. The keyboard can scroll the region. */
export function ValueBlock({ label, value }: { label: string; value: unknown }) {
  return (
    <figure className="value">
      <figcaption>{label}</figcaption>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} aria-label={label}>
        {typeof value === "string" ? value : formatJson(value)}
      </pre>
    </figure>
  );
}
