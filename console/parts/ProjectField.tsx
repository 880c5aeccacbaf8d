import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { listProjects } from "../api/settings.ts";
import { namedChoices, Options, withChosen } from "./Choices.tsx";

interface Props {
  name: string;
  /** In brackets beside the label: "optional". */
  note: string;
  chosen: string | null | undefined;
  /** What the choice means. */
  children?: ReactNode;
}

/** A choice of one project, or of none. */
export function ProjectField({ name, note, chosen, children }: Props) {
  const { data } = useQuery(listProjects);
  return (
    <label>
      <span>
        Project <span className="quiet">({note})</span>
      </span>
      {children}
      {/* a new element once the projects are known: only then can one of them be chosen */}
      <select key={String(data === undefined)} name={name} defaultValue={chosen ?? ""}>
        <option value="">none</option>
        <Options choices={withChosen(namedChoices(data, "projects"), chosen)} />
      </select>
    </label>
  );
}
