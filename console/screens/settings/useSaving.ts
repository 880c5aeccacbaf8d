import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Section } from "./search.ts";

/** Saves a form of a section, which is empty afterwards: `formKey` is another one after each success. */
export function useSaving(section: Section, kind: string, save: (form: FormData) => Promise<unknown>) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [formKey, setFormKey] = useState(0);
  const send = useMutation({
    mutationFn: save,
    onSuccess: () => {
      setFormKey((current) => current + 1);
      void navigate({ to: "/settings", search: { section }, replace: true });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [kind] }),
  });
  return { send, formKey };
}
