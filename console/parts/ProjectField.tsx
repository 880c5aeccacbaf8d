import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { listProjects } from "../api/settings.ts";
import { namedChoices, Options, includeChosen } from "./Choices.tsx";
import { FormField } from "./FormField.tsx";

interface Props {
  name: string;
  /** The text in brackets beside the label: "optional". */
  note: string;
  chosen: string | null | undefined;
  /** The effect of the choice. */
  children?: ReactNode;
}

/** A select of one project or none. */
export function ProjectField({ name, note, chosen, children }: Props) {
  const { data } = useQuery(listProjects);
  return (
    <FormField label="Project" note={note}>
      {children}
      {/* remounts once the projects are known, because only then one of them can be selected */}
      <select key={String(data === undefined)} name={name} defaultValue={chosen ?? ""}>
        <option value="">none</option>
        <Options choices={includeChosen(namedChoices(data, "projects"), chosen)} />
      </select>
    </FormField>
  );
}
