# cmake -DINPUT=F -DOUTPUT=G -P CuPilotEmbed.cmake: the bytes of F as the elements
# of an array of char in C++, in G. (Compiler caches do not know #embed.)
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
string(REGEX REPLACE "(......................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "${bytes}\n")
