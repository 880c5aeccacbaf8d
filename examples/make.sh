#!/bin/sh
# Recreates the handbook from examples/source with pandoc and LibreOffice.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

office() {
  soffice -env:UserInstallation="file://$work/profile" --headless --convert-to "$1" --outdir "$2" "$3" >"$work/log" 2>&1
}

mkdir "$work/drafts"
pandoc source/staff.md --output "$work/drafts/handbook.docx"
office 'pdf:writer_pdf_Export:{"UseTaggedPDF":{"type":"boolean","value":"true"}}' . "$work/drafts/handbook.docx"
pandoc source/workshop.md --output "$work/drafts/handbook.docx"
office 'docx:MS Word 2007 XML' . "$work/drafts/handbook.docx"
pandoc source/welcome.md --slide-level 2 --output "$work/drafts/handbook.pptx"
office 'pptx:Impress MS PowerPoint 2007 XML' . "$work/drafts/handbook.pptx"
