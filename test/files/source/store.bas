' Stores a file under a password, which soffice --convert-to cannot.
Sub Store(source As String, into As String, kind As String, word As String)
  On Error GoTo Finish
  Dim hidden(0) As New com.sun.star.beans.PropertyValue
  hidden(0).Name = "Hidden"
  hidden(0).Value = True
  Dim secret(1) As New com.sun.star.beans.NamedValue
  secret(0).Name = "CryptoType"
  secret(0).Value = "Standard"
  secret(1).Name = "OOXPassword"
  secret(1).Value = word
  Dim how(1) As New com.sun.star.beans.PropertyValue
  how(0).Name = "FilterName"
  how(0).Value = kind
  If kind = "writer8" Then
    how(1).Name = "Password"
    how(1).Value = word
  Else
    how(1).Name = "EncryptionData"
    how(1).Value = CreateUnoValue("[]com.sun.star.beans.NamedValue", secret())
  End If
  document = StarDesktop.loadComponentFromURL(ConvertToURL(source), "_blank", 0, hidden())
  document.storeToURL(ConvertToURL(into), how())
  document.close(True)
Finish:
  StarDesktop.terminate()
End Sub
