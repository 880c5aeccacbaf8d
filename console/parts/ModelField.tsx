import { useQuery } from "@tanstack/react-query";
import { listModels } from "../api/requests.ts";
import { FormField } from "./FormField.tsx";

/** Suggestions for a model field, which refers to this list by its `id`. */
export function ModelNames({ id, only = () => true }: { id: string; only?: (model: string) => boolean }) {
  const { data } = useQuery(listModels);
  const names = data?.data.map((model) => model.id).filter(only);
  return (
    <datalist id={id}>
      {names?.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </datalist>
  );
}

interface Props {
  chosen: string | null | undefined;
  isRequired?: boolean;
  maxLength: number;
  placeholder: string;
}

/** The name of a model, typed or selected from the known models. */
export const ModelField = ({ chosen, isRequired, maxLength, placeholder }: Props) => (
  <>
    <FormField label="Model">
      <input
        name="model"
        required={isRequired}
        maxLength={maxLength}
        list="models"
        defaultValue={chosen ?? ""}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
      />
    </FormField>
    <ModelNames id="models" />
  </>
);
