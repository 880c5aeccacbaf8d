import type { Fault } from "../../editor/Editor.tsx";

const placeOf = ({ line, column }: Fault): string => (line === null ? "" : `line ${line}, column ${column ?? 1}: `);

/** What the service would refuse or warn of, in words. */
export const Faults = ({ faults }: { faults: Fault[] }) => (
  <div role="status" className="stack">
    {faults.map((fault) => (
      <p
        key={`${fault.line} ${fault.column} ${fault.message}`}
        className={fault.severity === "error" ? "notice bad" : "notice warn"}
      >
        <strong>{placeOf(fault)}</strong>
        {fault.message}
      </p>
    ))}
    {faults.length === 0 && <p className="quiet">The service finds no fault in it.</p>}
  </div>
);
