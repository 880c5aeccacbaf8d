import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, type NavigateOptions } from "@tanstack/react-router";
import { useState } from "react";
import { useLocationKey } from "./useLocationKey.ts";

interface Saving<Saved> {
  /** The first word of the queries to invalidate. */
  kind: string;
  /** The item that the form edits, as the address names it; undefined for a new item. */
  edit?: string | undefined;
  /** The address of the empty form on a screen with several forms. */
  back?: NavigateOptions;
  save: (form: FormData) => Promise<Saved>;
}

/**
 * Saves a form and empties it, so that a second click adds nothing: `formKey` changes after each success. The form of another item,
 * which the person has opened meanwhile, stays as it is.
 */
export function useSaveForm<Saved>({ kind, edit, back, save }: Saving<Saved>) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const where = useLocationKey();
  const [formKey, setFormKey] = useState(0);
  const [sent, setSent] = useState(edit);
  const send = useMutation({
    mutationFn: save,
    onMutate: () => {
      setSent(edit);
      return where();
    },
    onSuccess: (_saved, _form, began) => {
      if (where() !== began) return;
      setFormKey((current) => current + 1);
      if (back) void navigate({ ...back, replace: true });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [kind] }),
  });
  // an error of one item must not be shown for the next one
  return { send: { ...send, isError: send.isError && sent === edit }, formKey };
}
