import type { Fault, Place } from "../../editor/Editor.tsx";
import { formatCount } from "../../format/index.ts";
import type { SourceCheck } from "./useSource.ts";
import "./faults.css";

interface FaultsProps {
  checked: SourceCheck;
  /** Moves the editor to a position. */
  onGo(place: Place): void;
}

function PlaceButton({ fault: { line, column }, onGo }: { fault: Fault; onGo: FaultsProps["onGo"] }) {
  if (line === null) return null;
  const place = { line, column: column ?? 1 };
  return (
    <button type="button" className="place" onClick={() => onGo(place)}>
      line {place.line}, column {place.column}
    </button>
  );
}

function summary({ faults, about_types }: SourceCheck): string {
  const errors = faults.filter(({ severity }) => severity === "error").length;
  const warnings = faults.length - errors;
  const found = [
    ...(errors > 0 ? [`${formatCount(errors, "fault")} that a save refuses`] : []),
    ...(warnings > 0 ? [`${formatCount(warnings, "warning")}, which a save takes`] : []),
  ];
  const text = found.length > 0 ? `${found.join(" and ")}.` : about_types ? "" : "The service finds no fault in it.";
  return [text, about_types ?? ""].join(" ").trim();
}

/** Errors and warnings of the service; each position is a link into the editor. */
export const Faults = ({ checked, onGo }: FaultsProps) => (
  <>
    <p role="status" className="quiet">
      {summary(checked)}
    </p>
    {checked.faults.length > 0 && (
      <ul className="faults" aria-label="Faults">
        {checked.faults.map((fault) => (
          <li
            key={`${fault.line} ${fault.column} ${fault.message}`}
            className={fault.severity === "error" ? "notice bad" : "notice warn"}
          >
            <PlaceButton fault={fault} onGo={onGo} />
            <span className="message">{fault.message}</span>
          </li>
        ))}
      </ul>
    )}
  </>
);
