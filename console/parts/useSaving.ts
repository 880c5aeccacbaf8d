import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, type NavigateOptions } from "@tanstack/react-router";
import { useState } from "react";

interface Saving<Saved> {
  /** The first word of the queries that are out of date afterwards. */
  kind: string;
  /** What the form changes, as the address names it; undefined: it makes a new thing. */
  edit?: string | undefined;
  /** The address of the form when it changes nothing, where it has several: a saved form is empty. */
  back?: NavigateOptions;
  save: (form: FormData) => Promise<Saved>;
}

/** Saves a form that is empty afterwards, so that a second press adds nothing again: `formKey` is another one after each success. */
export function useSaving<Saved>({ kind, edit, back, save }: Saving<Saved>) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [formKey, setFormKey] = useState(0);
  const [sent, setSent] = useState(edit);
  const send = useMutation({
    mutationFn: save,
    onMutate: () => setSent(edit),
    onSuccess: () => {
      setFormKey((current) => current + 1);
      if (back) void navigate({ ...back, replace: true });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [kind] }),
  });
  // what went wrong with one thing is not said of the next one
  return { send: { ...send, isError: send.isError && sent === edit }, formKey };
}
