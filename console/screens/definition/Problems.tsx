import type { Position, Problem } from "../../editor/Editor.tsx";
import { formatCount } from "../../format/index.ts";
import type { SourceCheck } from "./useSource.ts";
import "./problems.css";

interface ProblemsProps {
  checked: SourceCheck;
  /** Moves the editor to a position. */
  onGo(position: Position): void;
}

function PositionButton({ problem: { line, column }, onGo }: { problem: Problem; onGo: ProblemsProps["onGo"] }) {
  if (line === null) return null;
  const position = { line, column: column ?? 1 };
  return (
    <button type="button" className="place" onClick={() => onGo(position)}>
      line {position.line}, column {position.column}
    </button>
  );
}

function summary({ problems, about_types }: SourceCheck): string {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const warnings = problems.length - errors;
  const found = [
    ...(errors > 0 ? [`${formatCount(errors, "error")} that a save refuses`] : []),
    ...(warnings > 0 ? [`${formatCount(warnings, "warning")}, which a save takes`] : []),
  ];
  const text = found.length > 0 ? `${found.join(" and ")}.` : about_types ? "" : "The service finds no problems.";
  return [text, about_types ?? ""].join(" ").trim();
}

/** Errors and warnings of the service; each position is a link into the editor. */
export const Problems = ({ checked, onGo }: ProblemsProps) => (
  <>
    <p role="status" className="quiet">
      {summary(checked)}
    </p>
    {checked.problems.length > 0 && (
      <ul className="problems" aria-label="Problems">
        {checked.problems.map((problem) => (
          <li
            key={`${problem.line} ${problem.column} ${problem.message}`}
            className={problem.severity === "error" ? "notice bad" : "notice warn"}
          >
            <PositionButton problem={problem} onGo={onGo} />
            <span className="message">{problem.message}</span>
          </li>
        ))}
      </ul>
    )}
  </>
);
