import { useMutation, useQueryClient } from "@tanstack/react-query";
import { saveDefinition, type Definition, type DefinitionWithSource } from "../../api/build.ts";
import { Checkbox, Form } from "../../parts/Form.tsx";

interface Props {
  tool: Definition;
  /** Receives the new version, which has the same source. */
  onSaved(now: DefinitionWithSource): void;
}

/** The granted secrets, out of those that the tool's meta lists. */
export function Grants({ tool, onSaved }: Props) {
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: async (form: FormData) =>
      saveDefinition(tool.id, { grants: tool.secrets.filter((name) => form.getAll("grants").includes(name)) }),
    onSuccess: onSaved,
    onSettled: () => queries.invalidateQueries({ queryKey: ["definition"] }),
  });
  if (tool.secrets.length === 0) return null;
  return (
    <Form key={tool.version} submit="Save grants" done="Saved." send={save}>
      <fieldset>
        <legend>Secrets that it may read</legend>
        <p className="quiet">Code that may read a secret can leak it.</p>
        {tool.secrets.map((name) => (
          <Checkbox key={name} name="grants" value={name} label={name} isChecked={tool.grants.includes(name)} />
        ))}
      </fieldset>
    </Form>
  );
}
