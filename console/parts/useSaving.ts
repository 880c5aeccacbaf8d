import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, type NavigateOptions } from "@tanstack/react-router";
import { useState } from "react";

interface Saving {
  /** The first word of the queries that are out of date afterwards. */
  kind: string;
  /** The address of the form when it changes nothing: a saved form is empty. */
  back: NavigateOptions;
  save: (form: FormData) => Promise<unknown>;
}

/** Saves a form below a list, which is empty afterwards: `formKey` is another one after each success. */
export function useSaving({ kind, back, save }: Saving) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [formKey, setFormKey] = useState(0);
  const send = useMutation({
    mutationFn: save,
    onSuccess: () => {
      setFormKey((current) => current + 1);
      void navigate({ ...back, replace: true });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [kind] }),
  });
  return { send, formKey };
}
