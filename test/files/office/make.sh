#!/bin/sh
# Recreates the files of this folder from handbook.md with pandoc and LibreOffice.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pandoc handbook.md --from gfm+footnotes --output "$work/handbook.docx"
for kind in 'docx:MS Word 2007 XML' 'odt:writer8' 'rtf:Rich Text Format' 'html:HTML (StarWriter)'; do
  soffice -env:UserInstallation="file://$work/profile" --headless --convert-to "$kind" --outdir . "$work/handbook.docx" >"$work/log" 2>&1
done
cp "$work/handbook.docx" handbook-pandoc.docx
for kind in odt rtf epub html; do
  pandoc handbook.md --from markdown-smart --standalone --metadata pagetitle=Handbook --output "handbook-pandoc.$kind"
done
