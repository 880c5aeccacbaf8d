#!/bin/sh
# Recreates the files of this folder from source/ with pandoc, LibreOffice, pdftoppm and Chromium.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
profile="$work/profile"

office() {
  soffice -env:UserInstallation="file://$profile" --headless --convert-to "$1" --outdir "$2" "$3" ${4:+"$4"} >>"$work/log" 2>&1
}

locked() {
  timeout 60 soffice -env:UserInstallation="file://$profile" --headless "macro:///Standard.Store.Store($1,$2,$3,lighthouse)" >>"$work/log" 2>&1
}

pdf() {
  office "pdf:writer_pdf_Export:$1" "$work" "$work/guide.docx"
  mv "$work/guide.pdf" "$2"
}

# Writer's own formats
pandoc source/guide.md --output "$work/guide.docx"
office 'docx:MS Word 2007 XML' . "$work/guide.docx"
office 'odt:writer8' . "$work/guide.docx"
office 'rtf:Rich Text Format' . "$work/guide.docx"
office 'doc:MS Word 97' . "$work/guide.docx"
cp "$work/guide.docx" guide-pandoc.docx
pandoc source/guide.md --output guide.epub
pandoc source/guide.md --standalone --output guide.html
pandoc source/guide.md --to gfm --output guide.md
pandoc source/guide.md --to plain --output guide.txt

# A table in cells of another, as the programs' formats have it
office 'odt:writer8' "$work" source/nested.html --infilter='HTML (StarWriter)'
cp "$work/nested.odt" nested.odt
for kind in 'docx:MS Word 2007 XML' 'rtf:Rich Text Format' 'doc:MS Word 97'; do
  office "$kind" . nested.odt
done

# PDF: with and without structure tags, under a password, without permission to print, and as a scanned picture
pdf '{"UseTaggedPDF":{"type":"boolean","value":"true"}}' guide-tagged.pdf
pdf '{"UseTaggedPDF":{"type":"boolean","value":"false"}}' guide.pdf
pdf '{"EncryptFile":{"type":"boolean","value":"true"},"DocumentOpenPassword":{"type":"string","value":"lighthouse"}}' locked.pdf
pdf '{"RestrictPermissions":{"type":"boolean","value":"true"},"PermissionPassword":{"type":"string","value":"lighthouse"},"Printing":{"type":"long","value":"0"}}' restricted.pdf
pdftoppm -r 60 -gray -png -f 1 -l 1 guide.pdf "$work/scan"
office 'pdf:draw_pdf_Export' "$work" "$work"/scan-*.png
mv "$work"/scan-*.pdf scanned.pdf

# Empty files
printf '' | pandoc --from markdown --output blank.docx
office 'pdf:writer_pdf_Export' . blank.docx

# Text that is not UTF-8
iconv -t WINDOWS-1252 source/letter.txt >letter-1252.txt
iconv -t UTF-16 source/letter.txt >letter-utf16.txt

# Slides
pandoc source/deck.md --slide-level 2 --output deck-pandoc.pptx
office 'pptx:Impress MS PowerPoint 2007 XML' "$work" deck-pandoc.pptx
mv "$work/deck-pandoc.pptx" deck.pptx
office 'odp:impress8' "$work" deck.pptx
mv "$work/deck.odp" deck.odp

pandoc source/harbour.md --slide-level 2 --output harbour-pandoc.pptx
office 'pptx:Impress MS PowerPoint 2007 XML' "$work" harbour-pandoc.pptx
mv "$work/harbour-pandoc.pptx" harbour.pptx

# Sheets
cp source/stock.csv stock.csv
python3 -c 'import csv,sys; csv.writer(sys.stdout, delimiter="\t", lineterminator="\n").writerows(csv.reader(sys.stdin))' <stock.csv >stock.tsv
for kind in 'xlsx:Calc MS Excel 2007 XML' 'xls:MS Excel 97' 'ods:calc8'; do
  office "$kind" . stock.csv
  office "$kind" . source/tides.fods
done

# Files with a password
mkdir -p "$profile/user/basic/Standard"
printf '%s\n' '<?xml version="1.0" encoding="UTF-8"?>' \
  '<!DOCTYPE library:library PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "library.dtd">' \
  '<library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard" library:readonly="false" library:passwordprotected="false">' \
  '<library:element library:name="Store"/></library:library>' >"$profile/user/basic/Standard/script.xlb"
{
  printf '%s\n' '<?xml version="1.0" encoding="UTF-8"?>' \
    '<!DOCTYPE script:module PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "module.dtd">' \
    '<script:module xmlns:script="http://openoffice.org/2000/script" script:name="Store" script:language="StarBasic">'
  sed 's/&/\&amp;/g; s/"/\&quot;/g' source/store.bas
  printf '%s\n' '</script:module>'
} >"$profile/user/basic/Standard/Store.xba"
locked "$PWD/guide.docx" "$PWD/locked.docx" 'MS Word 2007 XML'
locked "$PWD/guide.odt" "$PWD/locked.odt" 'writer8'
locked "$PWD/stock.xlsx" "$PWD/locked.xlsx" 'Calc MS Excel 2007 XML'

# An e-mail of Outlook
node source/outlook.ts .

# Pictures
node source/photograph.ts .
convert notice.png -colors 16 notice.gif
convert notice.png -quality 60 notice.heic
convert notice.png -colorspace gray -threshold 60% -compress Group4 notice-fax.tiff
